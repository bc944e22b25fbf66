"""The part of Elasticsearch's HTTP interface that loading and a first search need, on loopback.

It checks what the real one checks: bodies of bulk requests line by line (the last line ends with a line break), names
of indexes and aliases, ids of 512 bytes at most, the types of a strict mapping, vectors' lengths. It answers 200 with
items that were refused or turned away inside, keeps what is not refreshed out of searches, and compares vectors one by
one. The shapes of its answers are those that OpenSearch 2.19 gave to the same requests.
"""

from __future__ import annotations

import json
import re
import threading
from collections import Counter, deque
from contextlib import contextmanager

import numpy as np

from tests.stores.servers.web import RefusalError, routed, serving

_WORDS = {"keyword", "text"}


class ElasticServer:
    """Indexes in memory. ``faults`` holds statuses that the next requests get instead of an answer."""

    def __init__(self):
        one = "/([^/_][^/]*)"
        self._lock = threading.Lock()
        self._routes = [
            ("PUT", one, self._create),
            ("DELETE", one, self._drop),
            ("GET", f"{one}/_mapping", self._mapping),
            ("PUT", f"{one}/_mapping", self._change_mapping),
            ("PUT", f"{one}/_settings", self._settings),
            ("POST", f"{one}/_refresh", self._refresh),
            ("POST", f"{one}/_flush", lambda request, name: self._index(name) and {}),
            ("POST", f"{one}/_bulk", self._bulk),
            ("GET", f"{one}/_count", self._count),
            ("POST", f"{one}/_mget", self._mget),
            ("POST", f"{one}/_search", self._search),
            ("GET", f"{one}/_doc/([^/]+)", self._get),
            ("PUT", f"{one}/_doc/([^/]+)", self._put),
            ("POST", "/_search/scroll", self._scroll),
            ("DELETE", "/_search/scroll", self._end_scroll),
            ("GET", "/_alias/([^/]+)", self._get_alias),
            ("POST", "/_aliases", self._change_aliases),
        ]
        self.wipe()

    def wipe(self):
        self.indexes, self.aliases, self.scrolls = {}, {}, {}
        self.faults = deque()
        self.turned_away = Counter()
        self.turn_away = 0
        """How often each item is turned away before it is taken."""
        self.refused = {}
        """Ids, and the status and reason of their refusal."""
        self.authorization = None
        self.most_bytes = 100 * 2**20
        self.bulks = []

    def __call__(self, request):
        with self._lock:
            if self.authorization and request.headers.get("Authorization") != self.authorization:
                raise _error(
                    401, "security_exception", f"unable to authenticate {request.headers['Authorization']}"
                )
            if self.faults:
                status, headers = self.faults.popleft()
                raise RefusalError(status, {"error": {"type": "fault", "reason": "on request"}}, headers)
            if len(request.body) > self.most_bytes:
                raise RefusalError(413, {"error": "Request Entity Too Large"})
            return routed(self._routes, request)

    def _index(self, name):
        name = self.aliases.get(name, name)
        if name not in self.indexes:
            raise _error(404, "index_not_found_exception", f"no such index [{name}]")
        return self.indexes[name]

    def _create(self, request, name):
        if name != name.lower() or name[0] in "_-+." or set(name) & set('\\/*?"<>| ,#:'):
            raise _error(400, "invalid_index_name_exception", f"Invalid index name [{name}]")
        if name in self.indexes or name in self.aliases:
            raise _error(400, "resource_already_exists_exception", f"index [{name}] already exists")
        body = request.json
        for field, kind in body["mappings"]["properties"].items():
            if kind["type"] == "dense_vector" and not 0 < kind["dims"] <= 4096:
                raise _error(400, "mapper_parsing_exception", f"[dims] of [{field}] is out of bounds")
        self.indexes[name] = {
            "settings": body["settings"],
            "mappings": body["mappings"],
            "new": {},
            "shown": {},
        }
        return {"acknowledged": True, "index": name}

    def _drop(self, request, name):
        self._index(name)
        del self.indexes[name]
        self.aliases = {alias: index for alias, index in self.aliases.items() if index != name}
        return {"acknowledged": True}

    def _mapping(self, request, name):
        return {self.aliases.get(name, name): {"mappings": self._index(name)["mappings"]}}

    def _change_mapping(self, request, name):
        fields = self._index(name)["mappings"]["properties"]
        for field, kind in request.json["properties"].items():
            if fields.setdefault(field, kind) != kind:
                reason = f"mapper [{field}] cannot be changed from type [{fields[field]['type']}]"
                raise _error(400, "illegal_argument_exception", reason)
        return {"acknowledged": True}

    def _settings(self, request, name):
        self._index(name)["settings"]["index"].update(request.json["index"])
        return {"acknowledged": True}

    def _refresh(self, request, name):
        index = self._index(name)
        index["shown"] = dict(index["new"])
        return {"_shards": {"failed": 0}}

    def _bulk(self, request, name):
        if request.headers["Content-Type"] not in {"application/x-ndjson", "application/json"}:
            raise RefusalError(
                406, {"error": f"Content-Type header [{request.headers['Content-Type']}] is not supported"}
            )
        self.bulks.append(request.body)
        if not request.body.endswith(b"\n"):
            raise _error(
                400, "illegal_argument_exception", "The bulk request must be terminated by a newline [\\n]"
            )
        lines = deque(request.body.split(b"\n")[:-1])
        items = []
        while lines:
            items.append(self._item(name, lines))
        failed = any(next(iter(item.values()))["status"] >= 400 for item in items)
        return {"took": 1, "errors": failed, "items": items}

    def _item(self, name, lines):
        try:
            (kind, facts), *more = json.loads(lines.popleft()).items()
        except (ValueError, AttributeError) as error:
            raise _error(400, "illegal_argument_exception", "Malformed action/metadata line") from error
        if more or kind not in {"index", "delete"} or set(facts) != {"_id"}:
            raise _error(
                400, "illegal_argument_exception", f"Malformed action/metadata line: {kind}, {facts}"
            )
        source = lines.popleft() if kind == "index" else None
        status, answer = self._done(name, kind, facts["_id"], source)
        return {kind: {"_index": name, "_id": facts["_id"], "status": status, **answer}}

    def _done(self, name, kind, key, source):
        if len(key.encode()) > 512:
            raise _error(
                400,
                "action_request_validation_exception",
                f"id [{key}] is too long, must be no longer than 512",
            )
        if name not in self.indexes and name not in self.aliases:
            return 404, {
                "error": {"type": "index_not_found_exception", "reason": f"no such index [{name}]"}
            }
        if self.turned_away[key] < self.turn_away:
            self.turned_away[key] += 1
            return 429, {
                "error": {"type": "es_rejected_execution_exception", "reason": "rejected execution"}
            }
        if key in self.refused:
            status, reason = self.refused[key]
            return status, {"error": {"type": "mapper_parsing_exception", "reason": reason}}
        index = self._index(name)
        if kind == "delete":
            return (
                (200, {"result": "deleted"})
                if index["new"].pop(key, None)
                else (404, {"result": "not_found"})
            )
        return self._indexed(index, key, source)

    @staticmethod
    def _indexed(index, key, source):
        try:
            document = json.loads(source)
            for field, value in document.items():
                _check(field, value, index["mappings"]["properties"])
        except (ValueError, TypeError) as error:
            return 400, {"error": {"type": "document_parsing_exception", "reason": str(error)}}
        created = key not in index["new"]
        index["new"][key] = document
        return 201 if created else 200, {"result": "created" if created else "updated"}

    def _count(self, request, name):
        return {"count": len(self._index(name)["shown"])}

    def _mget(self, request, name):
        there = self._index(name)["new"]
        return {"docs": [{"_id": key, "found": key in there} for key in request.json["ids"]]}

    def _get(self, request, name, key):
        found = self._index(name)["new"].get(key)
        if found is None:
            raise RefusalError(404, {"_id": key, "found": False})
        return {"_id": key, "found": True, "_source": found}

    def _put(self, request, name, key):
        index = self._index(name)
        status, answer = self._indexed(index, key, request.body)
        if status >= 400:
            raise RefusalError(status, answer)
        if request.query.get("refresh") == "true":
            index["shown"] = dict(index["new"])
        return answer

    def _search(self, request, name):
        index, body = self._index(name), request.json
        if "scroll" in request.query:
            number = str(len(self.scrolls))
            # A scroll sees what was shown when it began; the pages of this server are small.
            self.scrolls[number] = (deque(index["shown"]), min(body["size"], 50))
            return self._page(number)
        # What both sides of a request find is summed up, as the real one does.
        found = Counter(_nearest(index["shown"], body["knn"])) if "knn" in body else Counter()
        if "query" in body:
            found.update(_matching(index["shown"], body["query"]))
        best = found.most_common(body["size"])
        return {"hits": {"hits": [{"_id": key, "_score": score} for key, score in best]}}

    def _page(self, number):
        waiting, size = self.scrolls[number]
        keys = [waiting.popleft() for _ in range(min(size, len(waiting)))]
        return {"_scroll_id": number, "hits": {"hits": [{"_id": key} for key in keys]}}

    def _scroll(self, request):
        return self._page(request.json["scroll_id"])

    def _end_scroll(self, request):
        del self.scrolls[request.json["scroll_id"]]
        return {"succeeded": True}

    def _get_alias(self, request, name):
        if name not in self.aliases:
            raise RefusalError(404, {"error": f"alias [{name}] missing", "status": 404})
        return {self.aliases[name]: {"aliases": {name: {}}}}

    def _change_aliases(self, request):
        changed = dict(self.aliases)
        for action in request.json["actions"]:
            (kind, facts), *_ = action.items()
            self._index(facts["index"])
            if facts["alias"] in self.indexes:
                raise _error(400, "invalid_alias_name_exception", f"Invalid alias name [{facts['alias']}]")
            if kind == "remove":
                assert changed.pop(facts["alias"]) == facts["index"]
            else:
                assert changed.setdefault(facts["alias"], facts["index"]) == facts["index"], "two indexes"
        self.aliases = changed
        return {"acknowledged": True}


def _nearest(shown, knn):
    """Scores of the nearest documents."""
    among = {
        key: document
        for key, document in shown.items()
        if all(
            document.get(field) == value for field, value in knn.get("filter", {"term": {}})["term"].items()
        )
    }
    vectors = np.array([document[knn["field"]] for document in among.values()])
    question = np.array(knn["query_vector"])
    near = vectors @ question / np.linalg.norm(vectors, axis=1) / np.linalg.norm(question)
    keys = list(among)
    return {keys[place]: (1 + float(near[place])) / 2 for place in np.argsort(-near)[: knn["k"]]}


def _matching(shown, query):
    """Scores of the documents that a query meets: linear rank features, words of a text, or any of several."""
    [(kind, wanted)] = query.items()
    found = Counter()
    if kind == "bool":
        for each in wanted["should"]:
            found.update(_matching(shown, each))
    elif kind == "rank_feature":
        field, _, feature = wanted["field"].partition(".")
        assert wanted["linear"] == {}
        for key, document in shown.items():
            value = document.get(field, {}).get(feature)
            if value is not None:
                found[key] = _nine_bits(value) * wanted["boost"]
    else:
        assert kind == "match", query
        [(field, words)] = wanted.items()
        for key, document in shown.items():
            count = len(
                set(re.findall(r"\w+", words.lower())) & set(re.findall(r"\w+", document[field].lower()))
            )
            if count:
                found[key] = float(count)
    return found


def _nine_bits(value):
    """What Lucene keeps of a feature's value."""
    return float((np.float32(value).view(np.uint32) >> 15 << 15).view(np.float32))


def _error(status, kind, reason):
    return RefusalError(status, {"error": {"type": kind, "reason": reason}, "status": status})


def _check(field, value, properties):
    """Raise for a value that the mapping does not take."""
    if field not in properties:
        raise ValueError(f"mapping set to strict, dynamic introduction of [{field}] is not allowed")
    kind = properties[field]["type"]
    if kind == "dense_vector":
        _check_vector(field, value, properties[field])
    elif kind == "rank_features":
        if not isinstance(value, dict):
            raise ValueError(f"[{field}] fields must be json objects, expected a START_OBJECT")
        if not all(
            type(one) in (int, float) and one >= np.finfo(np.float32).tiny for one in value.values()
        ):
            raise ValueError(f"[{field}] featureValue must be a positive normal float")
    elif kind == "flattened" and not isinstance(value, dict | type(None)):
        raise ValueError(f"[{field}] of type [flattened] must be an object")
    elif kind in _WORDS | {"integer", "long", "float", "date"}:
        expected = str if kind in _WORDS or kind == "date" else int | float
        for one in value if isinstance(value, list) else [value]:
            if one is not None and not isinstance(one, expected):
                raise ValueError(f"failed to parse field [{field}] of type [{kind}]")


def _check_vector(field, value, mapping):
    if len(value) != mapping["dims"]:
        raise ValueError(f"[{field}] has {len(value)} numbers, and [dims] is {mapping['dims']}")
    if mapping.get("similarity") == "cosine" and not any(value):
        raise ValueError("The [cosine] similarity does not support vectors with zero magnitude")


@contextmanager
def elastic_server():
    """The server, with its ``url``, for as long as the block lasts."""
    server = ElasticServer()
    with serving(server) as url:
        server.url = url
        yield server

"""How the program ends when it is told to: one sentence, one code, and nothing of it stays behind."""

import os
import select
import signal
import subprocess
import sys

import pytest

RUN = """
import sys, threading, time
from pipeline.signals import apart, ended_by_signals

def body():
    print("at work", flush=True)
    {body}

with ended_by_signals():
    {call}
"""
SENTENCE = "Readers see the last snapshot that was published; the same command goes on from here.\n"


def told(number, body, call="body()"):
    command = [sys.executable, "-c", RUN.format(body=body, call=call)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "at work\n"
    process.send_signal(number)
    _out, err = process.communicate(timeout=60)
    return process.returncode, err


@pytest.mark.parametrize(
    ("number", "code", "word"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "told to end")]
)
def test_a_signal_ends_the_program_with_a_sentence_and_its_code(number, code, word):
    assert told(number, "time.sleep(60)") == (code, f"parquetry: {word}. {SENTENCE}")


def test_work_in_a_thread_is_not_waited_for():
    assert told(signal.SIGINT, "time.sleep(60)", "apart(body)")[0] == 130


def test_what_others_make_of_an_interruption_does_not_matter():
    body = "try: time.sleep(60)\n    except BaseException: raise RuntimeError('a trace of it')"
    assert told(signal.SIGINT, body) == (130, f"parquetry: interrupted. {SENTENCE}")


def test_work_in_a_thread_gives_back_its_result_or_its_error():
    from pipeline.signals import apart

    assert apart(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        apart(lambda: 1 // 0)


CHILD = (
    "import os, time; from transforms.model.lifeline import end_with; end_with({parent}); time.sleep(60)"
)
PARENT = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", {child!r}.replace("{{parent}}", str(os.getpid()))])
print(child.pid, flush=True)
time.sleep(60)
"""


def test_a_process_ends_when_the_one_that_started_it_is_killed():
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT.format(child=CHILD)], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout.readline().strip().isdecimal()
    # The child holds the other end of the pipe until it ends.
    parent.kill()
    assert select.select([parent.stdout], [], [], 60)[0]
    assert parent.stdout.read() == ""
    parent.wait()
    parent.stdout.close()


def test_who_ignores_interruptions_is_not_interrupted():
    program = RUN.format(body="sys.stdin.read()", call="body()")
    command = ["sh", "-c", 'trap "" INT; exec "$0" -c "$1"', sys.executable, program]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "at work\n"
    os.kill(process.pid, signal.SIGINT)
    assert process.communicate(timeout=60) == ("", "")
    assert process.returncode == 0


EARLY = """
import os, signal, sys

class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == "pipeline.cli":
            os.kill(os.getpid(), signal.{name})

sys.meta_path.insert(0, Interrupts())
from pipeline.start import main
main()
"""


@pytest.mark.parametrize(
    ("name", "code", "word"), [("SIGINT", 130, "interrupted"), ("SIGTERM", 143, "told to end")]
)
def test_the_program_is_ended_without_a_trace_while_it_is_still_being_read(name, code, word):
    done = subprocess.run(
        [sys.executable, "-c", EARLY.replace("{name}", name)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (code, f"parquetry: {word} before anything was done.\n")

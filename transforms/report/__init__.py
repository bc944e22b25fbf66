"""What a person should see of a snapshot: figures about its rows, and the page that shows them."""

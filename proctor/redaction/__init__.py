"""Finding secrets in what was recorded, and replacing them so that it still replays."""

"""Rules are data: loading, checking and looking up. Nothing here is about any one API."""

"""`python -m musify` is the command `musify`."""

from musify.cli import main

if __name__ == "__main__":
    main()

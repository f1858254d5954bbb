"""What every Python client program here shares: arguments, and a runner that prints one line a check."""
import sys

URL, KEY = sys.argv[-2].rstrip("/"), sys.argv[-1]
API_KEY = "local" if KEY == "-" else KEY


def want(true, why):
    if not true:
        raise AssertionError(why)


def run(group, checks):
    for check in checks:
        name = f"{group}.{check.__name__}"
        try:
            check()
        except Exception as e:
            print(f"FAIL {name}: {type(e).__name__}: {' '.join(str(e).split())[:300]}")
        else:
            print("ok", name)

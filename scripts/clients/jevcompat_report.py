"""Runs jevcompat and prints one line a requirement: jevcompat_report.py PROGRAM URL KEY|-"""
import json
import subprocess
import sys
import tempfile

program, url, key = sys.argv[1:4]
with tempfile.NamedTemporaryFile(suffix=".json") as out:
    args = [program, "test", url, "--timeout", "60", "--json", out.name]
    done = subprocess.run(args + ([] if key == "-" else ["--key", key]), capture_output=True, text=True)
    report = json.load(out)
for r in report["results"]:
    if r["status"] == "pass":
        print("ok jevcompat." + r["id"])
    elif r["status"] == "fail":
        found = (r.get("findings") or [{}])[0]
        print(f"FAIL jevcompat.{r['id']}: {r['level']}: {found.get('case')} {found.get('message', '')[:240]}")
verdict = report["summary"]["verdict"]
print("ok jevcompat.verdict" if done.returncode == 0 and verdict == "conformant" else f"FAIL jevcompat.verdict: {verdict}, exit {done.returncode}")

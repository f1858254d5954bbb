// What every JavaScript client program here shares: arguments, and a runner that prints one line a check.
export const [url, key] = [process.argv[2].replace(/\/+$/, ""), process.argv[3]];
export const apiKey = key === "-" ? "local" : key;

export function want(yes, why) {
  if (!yes) throw new Error(typeof why === "string" ? why : JSON.stringify(why));
}

export const total = (object) => Object.values(object).reduce((a, b) => a + b, 0);

export async function run(group, checks) {
  for (const [name, check] of Object.entries(checks)) {
    try {
      await check();
      console.log("ok", `${group}.${name}`);
    } catch (e) {
      console.log(`FAIL ${group}.${name}: ${String(e?.message ?? e).replace(/\s+/g, " ").slice(0, 300)}`);
    }
  }
}

// refused runs a call that has to fail and hands its error to look.
export async function refused(call, look) {
  let answer;
  try {
    answer = await call();
  } catch (e) {
    look(e);
    return;
  }
  throw new Error("was answered: " + JSON.stringify(answer));
}

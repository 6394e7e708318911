import { csv } from "/console/lib/csv.js";
import { find } from "/console/lib/find.js";
import { words } from "/console/lib/values.js";
import { curl } from "/console/views/request.js";
import { equal, test } from "./harness.js";

test("a file has a column for each field, and no formula", () => {
  equal(csv([{ id: "a", at: { x: 1 }, list: ["p", "q"], none: null }, { id: "b,\"c\"", more: -2 }]),
    'id,at.x,list,none,more\r\na,1,p q,,\r\n"b,""c""",,,,-2\r\n');
  equal(csv([{ name: "=1+1" }, { name: "-2" }]), "name\r\n'=1+1\r\n'-2\r\n");
});

test("a command quotes every part for the shell", () => {
  equal(curl({ url: "http://h/?a=1&b=2", headers: { B: "it's", A: "x" }, body: "{}" }),
    "curl -X POST \\\n  'http://h/?a=1&b=2' \\\n  -H 'A: x' \\\n  -H 'B: it'\\''s' \\\n  --data-raw '{}'");
});

test("fields read as words", () => {
  equal(["ratePlanId", "error_class", "id"].map(words), ["Rate plan id", "Error class", "Id"]);
});

test("an identifier opens its object, and other text the homes that fit", async () => {
  const homes = [{ id: "home-1" }, { id: "home-10" }];
  const client = {
    call: async (path, { search } = {}) => {
      if (path === "/v1/homes/list") return { data: homes.filter((home) => home.id.includes(search)) };
      if (path === "/v1/devices/hvac/dev-1/get") return {};
      throw Object.assign(new Error(path), { status: 404 });
    },
  };
  const found = ["trg_1", "ep_1", "msg_1", "home-1", "e-10", "home", "dev-1", "no body"].map((text) => find(client, text));
  equal(await Promise.all(found), ["/triggers/trg_1", "/endpoints/ep_1", "/deliveries/msg_1", "/homes/home-1", "/homes/home-10", "/homes?search=home", "/devices/dev-1", "/homes?search=no%20body"]);
});

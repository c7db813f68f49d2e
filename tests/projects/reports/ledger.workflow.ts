export const entrypoint = { title: "Ledger", description: "Posts an entry.", params: {} };

export default async function (input, flow) {
  flow.phase("Post");
  console.warn("the ledger is closed");
  flow.fail("Entry 4711 is not balanced", { errCode: 7 });
}

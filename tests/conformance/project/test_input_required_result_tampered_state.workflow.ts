export const entrypoint = { title: "Confirm", description: "Asks a person to confirm." };

export default async function (_input, flow) {
  const { ok } = await flow.form({ title: "Please confirm", fields: { ok: { type: "boolean", required: true } } });
  return ok ? "state-ok" : "not confirmed";
}

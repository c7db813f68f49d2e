export const entrypoint = { title: "Defaults", description: "Asks a person, with a default for each kind of field." };

export default async function (_input, flow) {
  return await flow.form({
    title: "Please check",
    fields: {
      name: { type: "string", default: "John Doe" },
      age: { type: "integer", default: 30 },
      score: { type: "number", default: 95.5 },
      status: { type: "string", options: ["active", "inactive", "pending"], default: "active" },
      verified: { type: "boolean", default: true },
    },
  });
}

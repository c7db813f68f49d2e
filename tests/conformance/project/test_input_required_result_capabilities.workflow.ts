export const entrypoint = { title: "Name", description: "Asks a person for a name." };

export default async function (_input, flow) {
  const { name } = await flow.form({
    title: "What is your name?",
    fields: { name: { type: "string", required: true } },
  });
  return `Hello, ${name}!`;
}

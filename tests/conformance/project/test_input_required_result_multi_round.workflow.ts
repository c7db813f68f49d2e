export const entrypoint = { title: "Two questions", description: "Asks a person twice." };

export default async function (_input, flow) {
  const { name } = await flow.form({ title: "Step 1: What is your name?", fields: { name: { type: "string", required: true } } });
  const { color } = await flow.form({
    title: "Step 2: What is your favorite color?",
    fields: { color: { type: "string", required: true } },
  });
  return `${name} likes ${color}`;
}

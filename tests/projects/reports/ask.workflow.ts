export const entrypoint = { title: "Greeting", description: "Asks whom to greet.", params: {} };

export default async function (input, flow) {
  flow.phase("Ask");
  try {
    const { name } = await flow.form({
      title: "Who is it for?",
      message: "The page greets this person.",
      fields: { name: { type: "string", required: true, title: "Name" } },
    });
    return { greeting: "Hello, " + name };
  } catch (error) {
    if (error.code !== "interaction_declined") throw error;
    return { greeting: "Hello, whoever you are" };
  }
}

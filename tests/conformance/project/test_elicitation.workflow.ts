export const entrypoint = {
  title: "Form",
  description: "Asks a person.",
  params: { message: { type: "string", description: "What to ask", default: "Please provide your information" } },
};

export default async function (input, flow) {
  return await flow.form({
    title: input.message,
    fields: {
      username: { type: "string", required: true, title: "Name" },
      email: { type: "string", required: true, title: "Address" },
    },
  });
}

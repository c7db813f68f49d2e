export const entrypoint = { title: "Text", description: "Returns a text." };

export default async function () {
  return "This is a simple text response for testing.";
}

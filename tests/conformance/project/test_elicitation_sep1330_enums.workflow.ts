export const entrypoint = { title: "Options", description: "Asks a person to choose." };

const titled = [
  { value: "value1", title: "First" },
  { value: "value2", title: "Second" },
  { value: "value3", title: "Third" },
];

export default async function (_input, flow) {
  const plain = ["option1", "option2", "option3"];
  return await flow.form({
    title: "Please choose",
    fields: {
      untitledSingle: { type: "string", options: plain },
      titledSingle: { type: "string", options: titled },
      legacyEnum: { type: "string", options: ["opt1", "opt2", "opt3"] },
      untitledMulti: { type: "string", multiple: true, options: plain },
      titledMulti: { type: "string", multiple: true, options: titled },
    },
  });
}

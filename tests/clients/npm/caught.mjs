// Runs a program, prints what its user would catch as a line of JSON, and lets it fall: `caught.mjs PROGRAM [OPTIONS]`
const program = process.argv.splice(2, 1)[0];
try {
  await import(new URL(program, import.meta.url));
} catch (error) {
  const { name, message, status, statusCode, code, type, cause } = error;
  const told = { name, message, status: status ?? statusCode, code, type, cause: cause && String(cause) };
  console.log(JSON.stringify({ class: error.constructor.name, ...told }));
  throw error;
}

// An OpenAPI document with its operations, its webhooks, and validators of its schemas.

import Ajv from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

const escaped = (name) => name.replaceAll("~", "~0").replaceAll("/", "~1");

// closed forbids fields that the schema does not name. Callers must expect further
// fields, but the document must name them all.
function closed(schema) {
  if (schema === null || typeof schema !== "object") return;
  if (schema.properties && schema.additionalProperties === undefined && !Array.isArray(schema)) {
    schema.additionalProperties = false;
  }
  for (const [name, inner] of Object.entries(schema)) {
    if (!["example", "examples", "default", "const", "enum"].includes(name)) closed(inner);
  }
}

export class Document {
  constructor(document) {
    closed(document);
    this.document = document;
    // Keywords of OpenAPI that are not in JSON Schema are ignored.
    this.ajv = new Ajv({ strict: false, allErrors: true });
    addFormats(this.ajv);
    this.ajv.addSchema(document, "document");
    this.operations = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => new Operation(this, path, method, operation)),
    );
    this.webhooks = Object.keys(document.webhooks ?? {});
  }

  // at resolves a JSON pointer through references, and returns the value with its final
  // pointer.
  at(pointer) {
    let value = this.document;
    for (const step of pointer.split("/").slice(1)) {
      value = value?.[step.replaceAll("~1", "/").replaceAll("~0", "~")];
    }
    return value?.$ref ? this.at(value.$ref) : { value, pointer };
  }

  // problems returns the errors of a value by the schema at a pointer.
  problems(pointer, value) {
    const validate = this.ajv.getSchema(`document${pointer}`) ?? this.ajv.compile({ $ref: `document${pointer}` });
    return validate(value) ? [] : validate.errors.map((e) => `${e.instancePath || "it"} ${e.message} ${JSON.stringify(e.params)}`);
  }

  // webhookProblems returns the errors of a received webhook.
  webhookProblems({ headers, body }) {
    const pointer = `#/webhooks/${escaped(body.type)}/post`;
    const { value: operation } = this.at(pointer);
    if (!operation) return [`${body.type} is not documented`];
    const missing = operation.parameters.filter((p) => p.in === "header" && p.required && !headers[p.name]);
    return [
      ...missing.map((p) => `the header ${p.name} is missing`),
      ...this.problems(`${pointer}/requestBody/content/application~1json/schema`, body),
    ];
  }
}

class Operation {
  constructor(document, path, method, operation) {
    this.document = document;
    this.path = path;
    this.method = method;
    this.name = operation.operationId;
    this.open = operation.security.every((s) => Object.keys(s).length === 0);
    const content = operation.requestBody?.content ?? {};
    [this.mediaType] = Object.keys(content);
    this.example = content[this.mediaType]?.example;
    this.required = this.mediaType === "application/json" ? (document.at(`${this.pointer()}/requestBody/content/application~1json/schema`).value.required ?? []) : [];
    this.identified = path.includes("{id}");
  }

  pointer() {
    return `#/paths/${escaped(this.path)}/${this.method}`;
  }

  // problems returns the errors of a response: an undocumented status, or a body that
  // does not match its schema.
  problems(status, body) {
    const { value: response, pointer } = this.document.at(`${this.pointer()}/responses/${status}`);
    if (!response) return [`${status} is not documented: ${JSON.stringify(body)}`];
    const [type] = Object.keys(response.content); // a stream's schema is that of a line
    return this.document.problems(`${pointer}/content/${escaped(type)}/schema`, body);
  }
}

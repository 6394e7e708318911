// Package schema interprets the tags of request and response types. It decodes a body,
// reports every wrong field, and describes the type as in OpenAPI 3.1.
//
// The tags have the names of JSON Schema keywords: minimum, maximum, exclusiveMinimum,
// exclusiveMaximum, minLength, maxLength, minItems, maxItems, maxProperties, pattern,
// format, enum, default, nullable, readOnly. The tags doc and example are for readers. A
// tag with the prefix items applies to an array's elements, as in itemsMaximum. The tag
// required on a blank field lists the required fields of a request.
//
// It may import storage for timestamps and field errors, and pricing for dates. It does not
// depend on any resource.
package schema

// Package importer stores many resources at once. The input is NDJSON, one resource a
// line. The importer stores the correct lines. It reports each wrong line with its number
// and its wrong fields. Importing the same lines again changes nothing.
//
// It may import api/rest, api/wire, api/schema, storage and pricing. The caller passes in
// the functions that lines share with the API's operations.
package importer

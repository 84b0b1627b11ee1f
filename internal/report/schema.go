package report

import _ "embed"

// Schema is the JSON Schema (2020-12) of what JSON writes.
//
//go:embed schema.json
var Schema []byte

package coz

import _ "embed"

//go:embed coz_amd64.so
var library []byte

package coz

import _ "embed"

//go:embed coz_arm64.so
var library []byte

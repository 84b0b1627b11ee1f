package jvm

import _ "embed"

//go:embed agent_amd64.so
var library []byte

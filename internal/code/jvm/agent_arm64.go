package jvm

import _ "embed"

//go:embed agent_arm64.so
var library []byte

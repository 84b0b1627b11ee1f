package debugfile

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"strings"
)

// maxName bounds a file's name in a section. The kernel's limit is 4096.
const maxName = 4096

// debugLink reads .gnu_debuglink: a name without directories, padding to four bytes, a checksum.
func debugLink(data []byte) (name string, sum uint32, ok bool) {
	n := bytes.IndexByte(data, 0)
	at := (n + 4) &^ 3
	if n <= 0 || n > maxName || at+4 > len(data) || bytes.IndexByte(data[:n], '/') >= 0 {
		return "", 0, false
	}
	return string(data[:n]), binary.LittleEndian.Uint32(data[at:]), true
}

// altLink reads .gnu_debugaltlink: a path and a build id.
func altLink(data []byte) (name, id string, ok bool) {
	n := bytes.IndexByte(data, 0)
	if n <= 0 || n > maxName || n+1 == len(data) || len(data)-n-1 > maxID {
		return "", "", false
	}
	return string(data[:n]), hex.EncodeToString(data[n+1:]), true
}

// maxID bounds a build id, in bytes. It is a hash of 8 to 32 bytes.
const maxID = 64

// supplementary reads .debug_sup: DWARF 5, section 7.3.6. If is is set, the file itself is a supplementary
// file, else name is such a file. sum is the supplementary file's checksum.
func supplementary(data []byte) (name, sum string, is, ok bool) {
	if len(data) < 4 || binary.LittleEndian.Uint16(data) != 5 {
		return "", "", false, false
	}
	is = data[2] != 0
	data = data[3:]
	n := bytes.IndexByte(data, 0)
	if n < 0 || n > maxName || is == (n > 0) {
		return "", "", false, false
	}
	name, data = string(data[:n]), data[n+1:]
	size, used := binary.Uvarint(data)
	if used <= 0 || size == 0 || size > maxID || size > uint64(len(data)-used) {
		return "", "", false, false
	}
	return name, hex.EncodeToString(data[used : used+int(size)]), is, !strings.Contains(name, "\n")
}

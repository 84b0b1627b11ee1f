package dwarf

// The tags and attributes that are read: DWARF 5, sections 7.5.3 and 7.5.4.
const (
	tagClassType         = 0x02
	tagEnumerationType   = 0x04
	tagArrayType         = 0x01
	tagFormalParameter   = 0x05
	tagCompileUnit       = 0x11
	tagStructureType     = 0x13
	tagSubroutineType    = 0x15
	tagUnionType         = 0x17
	tagInlinedSubroutine = 0x1d
	tagSubprogram        = 0x2e
	tagVariable          = 0x34
	tagInterfaceType     = 0x38
	tagNamespace         = 0x39
	tagPartialUnit       = 0x3c
	tagSkeletonUnit      = 0x4a

	attrSibling        = 0x01
	attrName           = 0x03
	attrStmtList       = 0x10
	attrLowPC          = 0x11
	attrHighPC         = 0x12
	attrCompDir        = 0x1b
	attrProducer       = 0x25
	attrAbstractOrigin = 0x31
	attrDeclFile       = 0x3a
	attrDeclLine       = 0x3b
	attrSpecification  = 0x47
	attrEntryPC        = 0x52
	attrRanges         = 0x55
	attrCallFile       = 0x58
	attrCallLine       = 0x59
	attrLinkageName    = 0x6e
	attrLanguage       = 0x13
	attrStrOffsetsBase = 0x72
	attrAddrBase       = 0x73
	attrRnglistsBase   = 0x74
	attrDwoName        = 0x76
	attrMIPSLinkage    = 0x2007
	attrGNUDwoName     = 0x2130
	attrGNUDwoID       = 0x2131
	attrGNURangesBase  = 0x2132
	attrGNUAddrBase    = 0x2133
)

// wanted reports whether an attribute of entries with a tag is read.
func wanted(attr, tag uint32) bool {
	switch tag {
	case tagSubprogram, tagInlinedSubroutine:
		switch attr {
		case attrName, attrLowPC, attrHighPC, attrAbstractOrigin, attrSpecification, attrRanges,
			attrCallFile, attrCallLine, attrDeclFile, attrDeclLine, attrLinkageName, attrMIPSLinkage:
			return true
		case attrEntryPC:
			return tag == tagInlinedSubroutine
		}
	case tagEnumerationType, tagArrayType, tagSubroutineType:
		// These have no code below them: attrSibling leads past their children.
		return attr == attrSibling
	}
	return isEnclosing(tag) && (attr == attrName || attr == attrDeclFile || attr == attrDeclLine)
}

// isEnclosing reports whether entries with a tag qualify the names of the functions in them.
func isEnclosing(tag uint32) bool {
	switch tag {
	case tagNamespace, tagStructureType, tagClassType, tagUnionType, tagInterfaceType:
		return true
	}
	return false
}

package dwarf

// The attribute forms of DWARF 5, section 7.5.6, and GNU's for split and dwz files.
const (
	formAddr          = 0x01
	formBlock2        = 0x03
	formBlock4        = 0x04
	formData2         = 0x05
	formData4         = 0x06
	formData8         = 0x07
	formString        = 0x08
	formBlock         = 0x09
	formBlock1        = 0x0a
	formData1         = 0x0b
	formFlag          = 0x0c
	formSdata         = 0x0d
	formStrp          = 0x0e
	formUdata         = 0x0f
	formRefAddr       = 0x10
	formRef1          = 0x11
	formRef2          = 0x12
	formRef4          = 0x13
	formRef8          = 0x14
	formRefUdata      = 0x15
	formIndirect      = 0x16
	formSecOffset     = 0x17
	formExprloc       = 0x18
	formFlagPresent   = 0x19
	formStrx          = 0x1a
	formAddrx         = 0x1b
	formRefSup4       = 0x1c
	formStrpSup       = 0x1d
	formData16        = 0x1e
	formLineStrp      = 0x1f
	formRefSig8       = 0x20
	formImplicitConst = 0x21
	formLoclistx      = 0x22
	formRnglistx      = 0x23
	formRefSup8       = 0x24
	formStrx1         = 0x25
	formStrx2         = 0x26
	formStrx3         = 0x27
	formStrx4         = 0x28
	formAddrx1        = 0x29
	formAddrx2        = 0x2a
	formAddrx3        = 0x2b
	formAddrx4        = 0x2c
	formGNUAddrIndex  = 0x1f01
	formGNUStrIndex   = 0x1f02
	formGNURefAlt     = 0x1f20
	formGNUStrpAlt    = 0x1f21
)

// class says what a value's number means.
type class uint8

const (
	classNone   class = iota
	classConst        // the number itself
	classAddr         // an address
	classAddrx        // an index into .debug_addr
	classRef          // an offset in .debug_info
	classOffset       // an offset in the section that the attribute implies
	classList         // an index into the unit's range lists
	classString       // inline bytes
	classStrp         // an offset in .debug_str
	classLine         // an offset in .debug_line_str
	classStrx         // an index into .debug_str_offsets

	classAlternate     // an offset in .debug_info of dwz's alternate file
	classAlternateStrp // an offset in .debug_str of that file
)

// value is an attribute's value before any look-up. An index may need a base that is a later attribute
// of the same entry.
type value struct {
	class class
	n     uint64
	s     []byte
}

// value reads one attribute of the unit. Forms that are not needed have the class classNone.
func (u *unit) value(c *cursor, s attrSpec) value {
	form := s.form
	if form == formIndirect {
		form = uint32(c.uleb())
		if form == formIndirect || form == formImplicitConst {
			c.bad = true
			return value{}
		}
	}
	switch form {
	case formAddr:
		return value{class: classAddr, n: c.sized(u.addrSize)}
	case formData1, formFlag:
		return value{class: classConst, n: uint64(c.u8())}
	case formData2:
		return value{class: classConst, n: uint64(c.u16())}
	case formData4:
		// Before DWARF 4 it may also be a section offset.
		return value{class: classConst, n: uint64(c.u32())}
	case formData8:
		return value{class: classConst, n: c.u64()}
	case formUdata:
		return value{class: classConst, n: c.uleb()}
	case formSdata:
		return value{class: classConst, n: uint64(c.sleb())}
	case formImplicitConst:
		return value{class: classConst, n: uint64(s.implicit)}
	case formFlagPresent:
		return value{class: classConst, n: 1}
	case formSecOffset:
		return value{class: classOffset, n: c.offset(u.is64)}
	case formRnglistx:
		return value{class: classList, n: c.uleb()}
	case formRef1, formRef2, formRef4, formRef8, formRefUdata, formRefAddr:
		return u.reference(c, form)
	case formString, formStrp, formLineStrp, formStrx, formStrx1, formStrx2, formStrx3, formStrx4, formGNUStrIndex:
		return u.stringValue(c, form)
	case formGNURefAlt:
		return value{class: classAlternate, n: c.offset(u.is64)}
	case formRefSup4:
		return value{class: classAlternate, n: uint64(c.u32())}
	case formRefSup8:
		return value{class: classAlternate, n: c.u64()}
	case formStrpSup, formGNUStrpAlt:
		return value{class: classAlternateStrp, n: c.offset(u.is64)}
	case formAddrx, formGNUAddrIndex:
		return value{class: classAddrx, n: c.uleb()}
	case formAddrx1:
		return value{class: classAddrx, n: uint64(c.u8())}
	case formAddrx2:
		return value{class: classAddrx, n: uint64(c.u16())}
	case formAddrx3:
		return value{class: classAddrx, n: uint64(c.u24())}
	case formAddrx4:
		return value{class: classAddrx, n: uint64(c.u32())}
	}
	u.skipForm(c, form)
	return value{}
}

func (u *unit) reference(c *cursor, form uint32) value {
	v := value{class: classRef}
	switch form {
	case formRef1:
		v.n = uint64(c.u8())
	case formRef2:
		v.n = uint64(c.u16())
	case formRef4:
		v.n = uint64(c.u32())
	case formRef8:
		v.n = c.u64()
	case formRefUdata:
		v.n = c.uleb()
	case formRefAddr:
		if u.version == 2 {
			v.n = c.sized(u.addrSize)
		} else {
			v.n = c.offset(u.is64)
		}
		return v
	}
	v.n += u.off
	return v
}

func (u *unit) stringValue(c *cursor, form uint32) value {
	switch form {
	case formString:
		return value{class: classString, s: c.cstring()}
	case formStrp:
		return value{class: classStrp, n: c.offset(u.is64)}
	case formLineStrp:
		return value{class: classLine, n: c.offset(u.is64)}
	case formStrx1:
		return value{class: classStrx, n: uint64(c.u8())}
	case formStrx2:
		return value{class: classStrx, n: uint64(c.u16())}
	case formStrx3:
		return value{class: classStrx, n: uint64(c.u24())}
	case formStrx4:
		return value{class: classStrx, n: uint64(c.u32())}
	}
	return value{class: classStrx, n: c.uleb()}
}

// skipForm skips a value. An unknown form makes the cursor bad, because its size is not known.
func (u *unit) skipForm(c *cursor, form uint32) {
	if n := fixedSize(form, u); n >= 0 {
		c.skip(uint64(n))
		return
	}
	switch form {
	case formBlock1:
		c.skip(uint64(c.u8()))
	case formBlock2:
		c.skip(uint64(c.u16()))
	case formBlock4:
		c.skip(uint64(c.u32()))
	case formBlock, formExprloc:
		c.skip(c.uleb())
	case formString:
		c.cstring()
	case formUdata, formSdata, formRefUdata, formStrx, formAddrx, formLoclistx, formRnglistx,
		formGNUAddrIndex, formGNUStrIndex:
		c.uleb()
	case formIndirect:
		u.value(c, attrSpec{form: formIndirect})
	default:
		c.bad = true
	}
}

// fixedSize returns the size of a form's values in the unit, -1 if the size depends on the value.
func fixedSize(form uint32, u *unit) int {
	switch form {
	case formFlagPresent, formImplicitConst:
		return 0
	case formData1, formFlag, formRef1, formStrx1, formAddrx1:
		return 1
	case formData2, formRef2, formStrx2, formAddrx2:
		return 2
	case formStrx3, formAddrx3:
		return 3
	case formData4, formRef4, formStrx4, formAddrx4, formRefSup4:
		return 4
	case formData8, formRef8, formRefSig8, formRefSup8:
		return 8
	case formData16:
		return 16
	case formAddr:
		return u.addrSize
	case formRefAddr:
		if u.version == 2 {
			return u.addrSize
		}
		return u.offsetSize()
	case formSecOffset, formStrp, formLineStrp, formStrpSup, formGNURefAlt, formGNUStrpAlt:
		return u.offsetSize()
	}
	return -1
}

package swift

// standardTypes and standardProtocols have the names in Swift's library, by their code behind S.
var standardTypes = map[string]string{
	"A": "AutoreleasingUnsafeMutablePointer", "a": "Array", "b": "Bool", "D": "Dictionary", "d": "Double", "f": "Float",
	"h": "Set", "I": "DefaultIndices", "i": "Int", "J": "Character", "N": "ClosedRange", "n": "Range",
	"O": "ObjectIdentifier", "P": "UnsafePointer", "p": "UnsafeMutablePointer", "q": "Optional",
	"R": "UnsafeBufferPointer", "r": "UnsafeMutableBufferPointer", "S": "String", "s": "Substring", "u": "UInt",
	"V": "UnsafeRawPointer", "v": "UnsafeMutableRawPointer",
	"W": "UnsafeRawBufferPointer", "w": "UnsafeMutableRawBufferPointer",

	"cC": "CheckedContinuation", "cc": "UnsafeContinuation", "cE": "CancellationError", "ce": "UnownedSerialExecutor",
	"cG": "TaskGroup", "cg": "ThrowingTaskGroup", "cJ": "UnownedJob", "cM": "MainActor", "cP": "TaskPriority",
	"cS": "AsyncStream", "cs": "AsyncThrowingStream", "cT": "Task", "ct": "UnsafeCurrentTask",
}

var standardProtocols = map[string]string{
	"B": "BinaryFloatingPoint", "E": "Encodable", "e": "Decodable", "F": "FloatingPoint", "G": "RandomNumberGenerator",
	"H": "Hashable", "j": "Numeric", "K": "BidirectionalCollection", "k": "RandomAccessCollection", "L": "Comparable",
	"l": "Collection", "M": "MutableCollection", "m": "RangeReplaceableCollection", "Q": "Equatable", "T": "Sequence",
	"t": "IteratorProtocol", "U": "UnsignedInteger", "X": "RangeExpression", "x": "Strideable", "Y": "RawRepresentable",
	"y": "StringProtocol", "Z": "SignedInteger", "z": "BinaryInteger",

	"cA": "Actor", "cF": "Executor", "cf": "SerialExecutor", "cI": "AsyncIteratorProtocol", "ci": "AsyncSequence",
}

// builtinTypes has the compiler's own types without a size.
var builtinTypes = map[byte]string{
	'A': "ImplicitActor", 'b': "BridgeObject", 'B': "UnsafeValueBuffer", 'c': "RawUnsafeContinuation",
	'D': "DefaultActorStorage", 'd': "NonDefaultDistributedActorStorage", 'e': "Executor", 'I': "IntLiteral",
	'j': "Job", 'O': "UnknownObject", 'o': "NativeObject", 'P': "PackIndex", 'p': "RawPointer", 't': "SILToken",
	'w': "Word",
}

// valueWitnesses has the functions with which each type copies, moves and destroys its values.
var valueWitnesses = map[string]string{
	"al": "allocateBuffer", "ca": "assignWithCopy", "ta": "assignWithTake", "de": "deallocateBuffer", "xx": "destroy",
	"XX": "destroyBuffer", "Xx": "destroyArray",
	"CP": "initializeBufferWithCopyOfBuffer", "Cp": "initializeBufferWithCopy",
	"cp": "initializeWithCopy", "TK": "initializeBufferWithTakeOfBuffer", "Tk": "initializeBufferWithTake",
	"tk": "initializeWithTake", "pr": "projectBuffer", "xs": "storeExtraInhabitant", "xg": "getExtraInhabitantIndex",
	"Cc": "initializeArrayWithCopy",
	"Tt": "initializeArrayWithTakeFrontToBack", "tT": "initializeArrayWithTakeBackToFront",
	"ug": "getEnumTag", "up": "destructiveProjectEnumData", "ui": "destructiveInjectEnumTag",
	"et": "getEnumTagSinglePayload", "st": "storeEnumTagSinglePayload",
}

// outlined has the functions that do the same as value witnesses for one place in the code.
var outlined = map[byte]string{
	'y': "copy", 'e': "consume", 'r': "retain", 's': "release", 'b': "init with take", 'B': "init with take",
	'c': "init with copy", 'C': "init with copy", 'd': "assign with take", 'D': "assign with take",
	'f': "assign with copy", 'F': "assign with copy", 'h': "destroy", 'H': "destroy", 'g': "enum get tag",
	'i': "enum tag store", 'j': "enum project data",
}

// accessors has the functions of a variable or a subscript.
var accessors = map[string]string{
	"m": "materializeForSet", "s": "setter", "g": "getter", "G": "getter", "w": "willset", "W": "didset", "i": "init",
	"r": "read", "M": "modify", "y": "read2", "x": "modify2", "b": "borrow",
	"au": "unsafeMutableAddressor", "lu": "unsafeAddressor",
}

// operatorChars has the characters of operators' names for a to z; a blank stands for none.
const operatorChars = "& @/= >    <*!|+?%-~   ^ ."

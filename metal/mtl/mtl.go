// Package mtl is a thin binding of the part of Metal that the backend uses, through
// purego and the Objective-C runtime: one file for each class, methods named after
// the selectors they send, with a link to Apple's page.
//
// Every message that the package sends is declared in messages.go with its encoding,
// and a test compares the declarations with published facts
// (testdata/selectors.json, testdata/foundation.json). An unknown selector ends a
// process with an Objective-C exception that Go cannot catch, so nothing else is
// ever sent, and what older systems lack is asked for first.
//
// Only the declarations exist on other systems than macOS.
package mtl

// Oldest is the oldest macOS that the backend supports: its Metal has bfloat (MSL 3.1).
const Oldest = 14

// Package sdktest holds the tests of the Go SDK that need a real Redis. They stand apart
// from the SDK so that it does not depend on what starts one.
package sdktest

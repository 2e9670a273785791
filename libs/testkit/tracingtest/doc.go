// Package tracingtest holds the tests of libs/telemetry/tracing that need a real Redis. They
// stand here because the module libs, which applications import, must not depend on the test
// kit.
package tracingtest

// Package redisxtest holds the tests of libs/redisx that need a real Redis. They
// stand here because the module libs, which applications import, must not depend
// on the test kit.
package redisxtest

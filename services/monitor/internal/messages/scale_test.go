//go:build !race

package messages_test

// walked is how many records the long walks are over.
const walked = 1_000_000

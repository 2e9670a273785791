// Package app wires the admin gateway: it turns settings into a running service. Another
// program may run it too, as the standalone suite does.
package app

// Package settings holds the sections of the configuration that more than one service reads,
// and what a service says of its build. One file may serve all services; these sections mean
// the same in each (architecture, Configuration).
package settings

// Package postgrestest holds what package postgres promises of real servers: sessions,
// migrations and the names of faults are tried on PostgreSQL processes.
package postgrestest

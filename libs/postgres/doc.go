// Package postgres connects services to PostgreSQL: the settings of a connection, a pool of
// them, the migrations of a schema, and the names of what can go wrong.
//
//	settings.go  what a configuration says, and what is wrong with it
//	open.go      a pool whose sessions are set up the same way
//	migrate.go   a schema is brought up to date at start-up, by one process at a time
//	state.go     errors of PostgreSQL by name
//
// It works on PostgreSQL 14 and newer. A pooler between a service and the server must keep
// a session on one connection at least while a schema is migrated; what services do later
// are single statements.
package postgres

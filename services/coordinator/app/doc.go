// Package app puts the coordinator together: settings, store, loop, catalog and API. It is
// the one package of the service that another program imports, to run the coordinator
// inside itself.
//
//	app, err := app.New(ctx, config, app.Deps{Logger: log})
//	err = app.Run(ctx) // listens until ctx ends, then finishes what it has begun
//
// A program that has its own listener uses Start, Handler and Close instead of Run.
//
// File map: config.go, coordination.go and validate.go hold the settings; redis.go, guard.go
// and wiring.go make the parts; app.go and serve.go run and end them; health.go, eviction.go
// and build.go tell how the process is doing and what it is.
package app

// Package model makes of what the gateway's API tells what a page shows: problems first, sorted,
// filtered and cut into pages, with every number as text. It is arithmetic: no I/O, no clock.
//
// What nobody knows is shown as a dash, never as 0.
package model

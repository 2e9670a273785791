// Package browser tests the web console as people use it: in a real Chromium, before the suite
// in one process, on a real Redis (monitoring, Console).
//
// The tests start Chromium without a screen, once for all of them, and end exactly that process.
// Each has a suite and a window without cookies of its own. Pictures of the pages go to
// $RSC_ARTEFACTS, or to the directory artefacts beside the tests.
package browser

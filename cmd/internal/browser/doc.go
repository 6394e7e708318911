// Package browser tests the console as its users see it: a real Chromium uses the console
// of a real gridhook. It has tests only. The tests skip without Chromium, unless
// GRIDHOOK_CHROMIUM names one.
package browser

// Package browser tests the console as its users meet it: a real Chromium clicks
// through what a real gridhook serves. It holds nothing but tests. They skip where
// there is no Chromium, unless GRIDHOOK_CHROMIUM names one.
package browser

// Package savings estimates what shifting heating and cooling to cheap hours is
// worth to a home, by month or for a year.
//
// A house is a first-order thermal model with the coefficients of its device,
// driven by the weather of a typical year in quarter hours. The baseline keeps
// the setpoints of the schedule. The optimum moves inside the band between the
// schedule's least and greatest temperature, is on average as comfortable as the
// baseline, ends each month at its temperature, and costs the least: it is found
// by dynamic programming over temperature with exact, piecewise linear value
// functions. docs/savings.md has the formulas, their sources and the assumptions.
//
// The package is pure: it may import the standard library, pricing and climate
// only, does no I/O and reads no clock. Money is US dollars, energy kWh; inside
// the package temperatures are degrees Celsius and time goes in steps of a
// quarter hour.
package savings

// Package savings estimates a home's savings from shifting heating and cooling to cheap
// hours, by month or for a year.
//
// A house is a first-order thermal model with the coefficients of its device. The weather
// of a typical year in quarter hours drives the model. The baseline holds the setpoints
// of the schedule. The optimum stays between the schedule's least and greatest
// temperature and has the least cost. It is on average as comfortable as the baseline,
// and ends each month at the baseline's temperature. The package finds the optimum by
// dynamic programming over temperature with exact, piecewise linear value functions.
// docs/savings.md has the formulas, their sources and the assumptions.
//
// The package is pure: it does no I/O and reads no clock. It may import only the standard
// library, pricing and climate. Money is US dollars, energy kWh. Inside the package
// temperatures are degrees Celsius, and a time step is a quarter hour.
package savings

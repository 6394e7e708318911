// Package solar models the solar system of a home. It calculates the sun's position, an
// array's output in a typical year, and the probability that the home exports by month
// and time of the day.
//
// The output follows PVWatts version 5 (Dobos, PVWatts Version 5 Manual,
// NREL/TP-6A20-62641, 2014). It uses the transposition of Perez et al. (1990) and the
// module temperature of Faiman (2008).
//
// The package may import only the standard library, package climate and the internal
// packages of pricing. Angles are in degrees, azimuths clockwise from north, irradiances in
// W/m2, powers in kW.
package solar

//go:generate go run ./internal/gen

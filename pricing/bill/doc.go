// Package bill calculates a home's bill for the energy it drew and sent out. A bill has
// energy by period and tier with riders and taxes, and fixed, minimum and demand charges.
// Solar is settled by net metering with its yearly settlement, net billing or feed-in.
//
// The package compares plans and checks tariffs on metered or typical series. It has no
// ledger and no due dates.
//
// The package is pure: it imports only the standard library, package pricing and packages
// below pricing. Money is US dollars, energy is kWh.
package bill

// Package bench measures Gridhook side by side with the raw ceiling of the same
// machine, in one run: what a bare client reaches against the same receiver, in
// its own process, is what the ratios refer to.
package bench

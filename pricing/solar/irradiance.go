package solar

import (
	"math"

	"github.com/gridhook/gridhook/pricing/climate"
)

// solarConstant is the irradiance above the atmosphere at one astronomical unit, W/m2.
const solarConstant = 1367.0

// planeOfArray returns the irradiance on the array. It is the sum of the beam, the light
// of the sky and the light from the ground. The light of the sky is by Perez et al.,
// Solar Energy 44 (1990) 271.
func (a Array) planeOfArray(sun Sun, w climate.Weather, incidence float64) float64 {
	cosTilt, sinTilt := math.Cos(a.Tilt*degree), math.Sin(a.Tilt*degree)
	zenith := (90 - sun.Elevation) * degree
	horizontal := w.DHI + w.DNI*math.Max(math.Cos(zenith), 0)
	beam := w.DNI * math.Max(incidence, 0)
	ground := horizontal * albedo * (1 - cosTilt) / 2
	return beam + sky(sun, w, zenith, incidence, cosTilt, sinTilt) + ground
}

// perezBins are the upper bounds of sky clearness.
var perezBins = [7]float64{1.065, 1.230, 1.500, 1.950, 2.800, 4.500, 6.200}

// perez are the coefficients F11, F12, F13, F21, F22, F23 by bin (table 6, all sites).
var perez = [8][6]float64{
	{-0.008, 0.588, -0.062, -0.060, 0.072, -0.022},
	{0.130, 0.683, -0.151, -0.019, 0.066, -0.029},
	{0.330, 0.487, -0.221, 0.055, -0.064, -0.026},
	{0.568, 0.187, -0.295, 0.109, -0.152, -0.014},
	{0.873, -0.392, -0.362, 0.226, -0.462, 0.001},
	{1.132, -1.237, -0.412, 0.288, -0.823, 0.056},
	{1.060, -1.600, -0.359, 0.264, -1.127, 0.131},
	{0.678, -0.327, -0.250, 0.156, -1.377, 0.251},
}

// sky returns the diffuse irradiance on the array: uniformly from the sky, from around
// the sun, and from the horizon.
func sky(sun Sun, w climate.Weather, zenith, incidence, cosTilt, sinTilt float64) float64 {
	const kappa = 1.041
	if w.DHI <= 0 {
		return 0
	}
	cube := kappa * zenith * zenith * zenith
	clearness := ((w.DHI+w.DNI)/w.DHI + cube) / (1 + cube)
	bin := 0
	for bin < len(perezBins) && clearness >= perezBins[bin] {
		bin++
	}
	above := solarConstant / (sun.Distance * sun.Distance)
	brightness := w.DHI * airMass(sun.Elevation) / above
	f := &perez[bin]
	around := math.Max(f[0]+f[1]*brightness+f[2]*zenith, 0)
	horizon := f[3] + f[4]*brightness + f[5]*zenith
	lowest := math.Cos(85 * degree)
	share := math.Max(incidence, 0) / math.Max(math.Cos(zenith), lowest)
	return math.Max(w.DHI*((1-around)*(1+cosTilt)/2+around*share+horizon*sinTilt), 0)
}

// airMass returns the length of the light's path through the air, relative to the
// vertical path. Source: Kasten and Young, Applied Optics 28 (1989) 4735.
func airMass(elevation float64) float64 {
	return 1 / (math.Sin(elevation*degree) + 0.50572*math.Pow(elevation+6.07995, -1.6364))
}

// cover returns the share of the beam that passes the modules' glass, relative to the
// share at a right angle. It uses Fresnel's law for the surface and Bouguer's law for the
// glass. The constants are from De Soto et al., Solar Energy 80 (2006) 78.
func cover(incidence float64) float64 {
	const refraction, extinction, thickness = 1.526, 4.0, 0.002
	if incidence <= 0 {
		return 0
	}
	pass := func(angle float64) float64 {
		inside := math.Asin(math.Sin(angle) / refraction)
		sum, difference := inside+angle, inside-angle
		reflected := (sq(math.Sin(difference)/math.Sin(sum)) + sq(math.Tan(difference)/math.Tan(sum))) / 2
		return math.Exp(-extinction*thickness/math.Cos(inside)) * (1 - reflected)
	}
	const nearlyNormal = 1e-3 // at 0 the law is 0/0
	return pass(math.Max(math.Acos(incidence), nearlyNormal)) / pass(nearlyNormal)
}

func sq(x float64) float64 { return x * x }

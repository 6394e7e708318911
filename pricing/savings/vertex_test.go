package savings

import "math"

// program is a linear program. It minimizes cost times x such that every row times x is
// at most its bound.
type program struct {
	cost   []float64
	rows   [][]float64
	bounds []float64
}

func (l *program) atMost(row []float64, bound float64) {
	l.rows, l.bounds = append(l.rows, row), append(l.bounds, bound)
}

// exhaust tries every corner. A corner makes as many rows tight as there are unknowns.
// A bounded program has its minimum at a corner. The two bounds of one quantity are
// adjacent rows and never tight together.
func (l *program) exhaust() (least float64, found bool) {
	n := len(l.cost)
	least = math.Inf(1)
	chosen := make([]int, n)
	var choose func(k, from int)
	choose = func(k, from int) {
		if k == n {
			if x, ok := l.corner(chosen); ok && l.holds(x) {
				least, found = min(least, dot(l.cost, x)), true
			}
			return
		}
		for i := from; i < len(l.rows); i++ {
			if k > 0 && opposite(l.rows[chosen[k-1]], l.rows[i]) {
				continue
			}
			chosen[k] = i
			choose(k+1, i+1)
		}
	}
	choose(0, 0)
	return least, found
}

// corner solves the chosen rows as equations by Gaussian elimination.
func (l *program) corner(chosen []int) ([]float64, bool) {
	n := len(chosen)
	m := make([][]float64, n)
	for i, row := range chosen {
		m[i] = append(append([]float64(nil), l.rows[row]...), l.bounds[row])
	}
	for column := range n {
		pivot := column
		for i := column; i < n; i++ {
			if math.Abs(m[i][column]) > math.Abs(m[pivot][column]) {
				pivot = i
			}
		}
		if math.Abs(m[pivot][column]) < 1e-12 {
			return nil, false
		}
		m[column], m[pivot] = m[pivot], m[column]
		for i := range n {
			if i == column {
				continue
			}
			factor := m[i][column] / m[column][column]
			for j := column; j <= n; j++ {
				m[i][j] -= factor * m[column][j]
			}
		}
	}
	x := make([]float64, n)
	for i := range x {
		x[i] = m[i][n] / m[i][i]
	}
	return x, true
}

// opposite reports whether two rows bound the same quantity from both sides.
func opposite(a, b []float64) bool {
	for i := range a {
		if a[i] != -b[i] {
			return false
		}
	}
	return true
}

func (l *program) holds(x []float64) bool {
	for i, row := range l.rows {
		if dot(row, x) > l.bounds[i]+1e-9 {
			return false
		}
	}
	return true
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// unknown is the heating or cooling (sign 1 or -1) in a step, with its maximum and its
// cost in $ per degree.
type unknown struct {
	step              int
	sign, limit, cost float64
}

// linear turns a problem into a linear program of heating and cooling. minComfort is
// the required comfort, nil if there is none. worth is the value of comfort in $ per
// degree and step. The cost of the program lacks the returned constant.
func (p *problem) linear(minComfort *float64, worth float64) (l *program, constant float64) {
	var unknowns []unknown
	for i, unit := range p.plants {
		gas := unit.therms * p.house.gasPrice
		for _, u := range []unknown{
			{i, 1, unit.heat, p.price[i]*unit.heatKwh + gas}, {i, 1, unit.aux, p.price[i] * unit.auxKwh}, {i, -1, unit.cool, p.price[i] * unit.coolKwh},
		} {
			if u.limit > 0 {
				unknowns = append(unknowns, u)
			}
		}
	}
	row := func(value func(u unknown) float64) []float64 {
		values := make([]float64, len(unknowns))
		for k, u := range unknowns {
			values[k] = value(u)
		}
		return values
	}
	// These functions return how much an unknown adds to the temperature after step i,
	// and to the total comfort.
	effect := func(u unknown, i int) float64 {
		if i < u.step {
			return 0
		}
		return u.sign * math.Pow(p.house.a, float64(i-u.step))
	}
	comforts := func(u unknown) float64 {
		sum := 0.0
		for i := range p.drift {
			sum += p.warm[i] * effect(u, i)
		}
		return sum
	}
	l = &program{cost: row(func(u unknown) float64 {
		return u.cost - worth*comforts(u)
	})}
	for k, u := range unknowns {
		unit := make([]float64, len(unknowns))
		unit[k] = 1
		l.atMost(unit, u.limit)
		l.atMost(row(func(v unknown) float64 {
			if v == u {
				return -1
			}
			return 0
		}), 0)
	}
	floating, fixed := p.start, 0.0
	for i := range p.drift {
		floating = p.house.a*floating + p.drift[i]
		fixed += p.warm[i] * floating
		l.atMost(row(func(u unknown) float64 { return effect(u, i) }), p.high[i]-floating)
		l.atMost(row(func(u unknown) float64 { return -effect(u, i) }), floating-p.low[i])
	}
	if minComfort != nil {
		l.atMost(row(func(u unknown) float64 { return -comforts(u) }), fixed-*minComfort)
	}
	return l, -worth * fixed
}

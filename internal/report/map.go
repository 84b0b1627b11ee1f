package report

import (
	"fmt"
	"io"

	"whatif/internal/analyze"
	"whatif/internal/chart"
)

// MapSpeedup is the speed-up whose gains a map shows, in percent.
const MapSpeedup = 50

// Map writes a picture of the units' shares of the time and their gains, one for each point: what is hot is not what is
// worth the work.
func Map(w io.Writer, r *analyze.Result, opt Options) error {
	points, err := selected(r, opt.Point)
	if err != nil {
		return err
	}
	sheet, err := newSheet(r, opt)
	if err != nil {
		return err
	}
	s := chart.MapSheet{Title: sheet.Title, Notes: sheet.Notes, Width: 640}
	for _, k := range points {
		if opt.Point == "" && begins(r, k) {
			continue
		}
		m := chart.Map{Speedup: MapSpeedup,
			Heading: fmt.Sprintf("gain at point %s, if code took half as long", clean(r.Points[k].Name))}
		for _, t := range sheet.targets {
			e := effectOn(t, k, analyze.Throughput)
			if e == nil {
				continue
			}
			gain, known, estimated := GainAt(e, MapSpeedup)
			if !known {
				continue
			}
			m.Spots = append(m.Spots, chart.Spot{
				Name: clean(sheet.name(t.Unit)), Share: t.Share, Gain: gain, Verdict: e.Verdict, Estimated: estimated,
				IsBound: IsBound(e, estimated),
			})
		}
		s.Maps = append(s.Maps, m)
	}
	if err := s.Write(w); err != nil {
		return fmt.Errorf("writing the map: %w", err)
	}
	return nil
}

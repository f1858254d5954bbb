package engine

// Limits bounds what ParseRequest accepts (endpoint.md 3.6) and says what a request
// means that does not choose. A zero number stands for the default.
type Limits struct {
	Body      int // bytes of the JSON document
	Depth     int // nested arrays and objects, the body's own object included
	Values    int // JSON values in the document: bounds memory, and is four times what 65,536 tokens can spell
	Questions int
	IDBytes   int // bytes of a question id
	Options   int // of a choice
	Levels    int // of a score

	Images      int
	ImageBytes  int     // one image, decoded from base64
	ImagesBytes int     // all images together
	ImagePixels int     // width times height, read from the header
	ImageRatio  float64 // longer side over shorter side

	// What a request gets that has no x_truncate, x_mode, x_ids or x_control.
	Truncate, Independent, NeutralIDs, Literal bool

	// KeepNullSides leaves a null side of a noul as it is: the prompt then gives that
	// side no description, as the reference does (clef.md 2.5). Otherwise null is the
	// same as absent, as it is over HTTP (endpoint.md 3.3). Programs that must agree
	// with the reference, or give back the JSON that they got, set it.
	KeepNullSides bool
}

// DefaultLimits returns the documented limits.
func DefaultLimits() Limits {
	return Limits{
		Body: 32 << 20, Depth: 64, Values: 1 << 18,
		Questions: 256, IDBytes: 1024, Options: 255, Levels: 10,
		Images: 4, ImageBytes: 4 << 20, ImagesBytes: 8 << 20, ImagePixels: 16_000_000, ImageRatio: 200,
	}
}

// filled returns l with defaults in place of zeros.
func (l Limits) filled() Limits {
	d := DefaultLimits()
	for _, pair := range [][2]*int{
		{&l.Body, &d.Body},
		{&l.Depth, &d.Depth},
		{&l.Values, &d.Values},
		{&l.Questions, &d.Questions},
		{&l.IDBytes, &d.IDBytes},
		{&l.Options, &d.Options},
		{&l.Levels, &d.Levels},
		{&l.Images, &d.Images},
		{&l.ImageBytes, &d.ImageBytes},
		{&l.ImagesBytes, &d.ImagesBytes},
		{&l.ImagePixels, &d.ImagePixels},
	} {
		if *pair[0] <= 0 {
			*pair[0] = *pair[1]
		}
	}
	if l.ImageRatio <= 0 {
		l.ImageRatio = d.ImageRatio
	}
	return l
}

/// Formats a number with six significant digits, without trailing zeros.
pub fn short_number(value: f64) -> String {
    if value == 0.0 || (1e-3..1e6).contains(&value.abs()) {
        let digits = if value == 0.0 { 0 } else { 5 - value.abs().log10().floor() as i32 };
        let text = format!("{value:.*}", digits.max(0) as usize);
        if text.contains('.') {
            return text.trim_end_matches('0').trim_end_matches('.').to_owned();
        }
        return text;
    }
    format!("{value:.5e}")
}

#[cfg(test)]
mod tests {
    use super::short_number;

    #[test]
    fn numbers_have_six_digits() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (-2.5, "-2.5"),
            (1234.5678, "1234.57"),
            (999_999.6, "1000000"),
            (1e7, "1.00000e7"),
            (0.001, "0.001"),
            (1.0 / 3.0, "0.333333"),
            (1e-9, "1.00000e-9"),
            (120.0, "120"),
        ] {
            assert_eq!(short_number(value), text);
        }
    }
}

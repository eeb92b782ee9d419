import * as $protobuf from "protobufjs/minimal.js";
import Long = require("long");

/**
 * Properties of a PricingData.
 * @deprecated Use PricingData.$Properties instead.
 */
export interface IPricingData extends PricingData.$Properties {
}

/** Represents a PricingData. */
export class PricingData {

    /**
     * Constructs a new PricingData.
     * @param [properties] Properties to set
     */
    constructor(properties?: PricingData.$Properties);

    /** Unknown fields preserved while decoding when enabled */
    $unknowns?: Uint8Array[];

    /** PricingData id. */
    id: string;

    /** PricingData price. */
    price: number;

    /** PricingData time. */
    time: Long;

    /** PricingData currency. */
    currency: string;

    /** PricingData exchange. */
    exchange: string;

    /** PricingData quote_type. */
    quote_type: number;

    /** PricingData market_hours. */
    market_hours: number;

    /** PricingData change_percent. */
    change_percent: number;

    /** PricingData day_volume. */
    day_volume: Long;

    /** PricingData day_high. */
    day_high: number;

    /** PricingData day_low. */
    day_low: number;

    /** PricingData change. */
    change: number;

    /** PricingData short_name. */
    short_name: string;

    /** PricingData expire_date. */
    expire_date: Long;

    /** PricingData open_price. */
    open_price: number;

    /** PricingData previous_close. */
    previous_close: number;

    /** PricingData strike_price. */
    strike_price: number;

    /** PricingData underlying_symbol. */
    underlying_symbol: string;

    /** PricingData open_interest. */
    open_interest: Long;

    /** PricingData options_type. */
    options_type: Long;

    /** PricingData mini_option. */
    mini_option: Long;

    /** PricingData last_size. */
    last_size: Long;

    /** PricingData bid. */
    bid: number;

    /** PricingData bid_size. */
    bid_size: Long;

    /** PricingData ask. */
    ask: number;

    /** PricingData ask_size. */
    ask_size: Long;

    /** PricingData price_hint. */
    price_hint: Long;

    /** PricingData vol_24hr. */
    vol_24hr: Long;

    /** PricingData vol_all_currencies. */
    vol_all_currencies: Long;

    /** PricingData from_currency. */
    from_currency: string;

    /** PricingData last_market. */
    last_market: string;

    /** PricingData circulating_supply. */
    circulating_supply: number;

    /** PricingData market_cap. */
    market_cap: number;

    /**
     * Encodes the specified PricingData message. Does not implicitly {@link PricingData.verify|verify} messages.
     * @param message PricingData message or plain object to encode
     * @param [writer] Writer to encode to
     * @returns Writer
     */
    static encode(message: PricingData.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

    /**
     * Decodes a PricingData message from the specified reader or buffer.
     * @param reader Reader or buffer to decode from
     * @param [length] Message length if known beforehand
     * @returns {PricingData & PricingData.$Shape} PricingData
     * @throws {Error} If the payload is not a reader or valid buffer
     * @throws {$protobuf.util.ProtocolError} If required fields are missing
     */
    static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): PricingData & PricingData.$Shape;
}

export namespace PricingData {

    /** Properties of a PricingData. */
    interface $Properties {

        /** PricingData id */
        id?: (string|null);

        /** PricingData price */
        price?: (number|null);

        /** PricingData time */
        time?: (Long|null);

        /** PricingData currency */
        currency?: (string|null);

        /** PricingData exchange */
        exchange?: (string|null);

        /** PricingData quote_type */
        quote_type?: (number|null);

        /** PricingData market_hours */
        market_hours?: (number|null);

        /** PricingData change_percent */
        change_percent?: (number|null);

        /** PricingData day_volume */
        day_volume?: (Long|null);

        /** PricingData day_high */
        day_high?: (number|null);

        /** PricingData day_low */
        day_low?: (number|null);

        /** PricingData change */
        change?: (number|null);

        /** PricingData short_name */
        short_name?: (string|null);

        /** PricingData expire_date */
        expire_date?: (Long|null);

        /** PricingData open_price */
        open_price?: (number|null);

        /** PricingData previous_close */
        previous_close?: (number|null);

        /** PricingData strike_price */
        strike_price?: (number|null);

        /** PricingData underlying_symbol */
        underlying_symbol?: (string|null);

        /** PricingData open_interest */
        open_interest?: (Long|null);

        /** PricingData options_type */
        options_type?: (Long|null);

        /** PricingData mini_option */
        mini_option?: (Long|null);

        /** PricingData last_size */
        last_size?: (Long|null);

        /** PricingData bid */
        bid?: (number|null);

        /** PricingData bid_size */
        bid_size?: (Long|null);

        /** PricingData ask */
        ask?: (number|null);

        /** PricingData ask_size */
        ask_size?: (Long|null);

        /** PricingData price_hint */
        price_hint?: (Long|null);

        /** PricingData vol_24hr */
        vol_24hr?: (Long|null);

        /** PricingData vol_all_currencies */
        vol_all_currencies?: (Long|null);

        /** PricingData from_currency */
        from_currency?: (string|null);

        /** PricingData last_market */
        last_market?: (string|null);

        /** PricingData circulating_supply */
        circulating_supply?: (number|null);

        /** PricingData market_cap */
        market_cap?: (number|null);

        /** Unknown fields preserved while decoding when enabled */
        $unknowns?: Uint8Array[];
    }

    /** Shape of a PricingData. */
    type $Shape = PricingData.$Properties;
}
